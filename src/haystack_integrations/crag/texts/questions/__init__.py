"""
What people write as a question, and what of it is asked.

Left out is what stands around it (`courtesies`, `mails`, `wrapped`) or is pasted beside it (`pasted`); `telling` finds
what is asked beside what is told, `alternatives` the answers that are offered, `asked_apart` the questions that are
judged one by one, `measures` the unit that is asked for, `defined` what is to be defined.
"""
