"""
What wording cannot tell: rules beside the trained judgement, each with its figures in docs/judgement.md.

Doubted is what cannot answer: without what the question names exactly (`exact`, which asks `other_names`, `properties`,
`opposites` and `reasons`), of another year (`editions`) or another section (`sections`), or only asking itself
(`unanswered`). Believed, uncalibrated, is what answers by its form: an entry of a reference (`entries`), a row
of a table (`rows`), a definition (`definitions`), a section headed as the task that is asked for (`tasks`). `about`
says which documents are about what is asked; `hops` keeps the second of two hops.
"""
