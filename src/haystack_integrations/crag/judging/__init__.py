"""
Judgement by measured signals: of documents and of the list, to scores or probabilities and a verdict.

`heuristics` knows both ways. By weights, `signals` measures and `weighting` scores. By a calibration, `grading` grades,
and `judge` judges a question as `respelling` and `acronyms` read it.

`reading` reads a text once, `places` says where its terms stand, `surface` makes texts alike before, `asking` reads a
question. `evidence` measures one document, `phrases` its share of the question's phrases, `among` what depends on its
list, `company` a document among the others and the list, `links` which of them speak of which, `copies` a list in which
a text stands twice, and `keeping` keeps what was measured. `crossing` learns which words answer which kind of question.

`heads` holds coefficients, `trees` the trees beside them, `calibration` is the file they come from; `likely` says what
documents are by them, `verdicts` what the verdict is read from, `joining` makes one judgement of several. What wording
cannot tell is left to `rules`.
"""
