"""
Judgement by measured signals: of documents and of the list, to scores or probabilities and a verdict.

`heuristics` knows both ways. By weights, `signals` measures and `weighting` scores. By a calibration, from a question
and its documents to a verdict:

    grading     takes the question as it is meant, and judges it
      meaning       reads question and documents, for a judgement and for a calibration alike
      reading       reads each document once: `surface` makes texts alike, `places` says where terms stand
      respelling    writes the question in the words of the documents; `acronyms` are some of them
      joining       makes one judgement of several: of the answers that are offered, of questions asked as one, of
                    things compared, of what is asked beside what is told
    judge       judges a question, or a part of one
      asking        weighs its words
      copies        measures documents that say the same once; who measures is `company`: each alone (`evidence` with
                    `phrases`, kept by `keeping`), beside the others, and which of them speak of which (`links`)
      crossing      tells which words answer which kind of question, if a calibration has learnt it
      likely        makes probabilities of the signals of each document, and signals of the list of these
      rules         doubt or believe what wording cannot tell

`calibration` is the file that a trained judgement comes from; `heads` holds its coefficients, `trees` the trees beside.
"""
