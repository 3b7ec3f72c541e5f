"""
Judgement by a small trained model: signals of documents and of the list, probabilities, a verdict.

reading.py reads a text once, places.py says where its terms stand; asking.py reads a question; evidence.py measures one
document, phrases.py its share of the question's phrases, among.py what depends on its list, company.py a document among
the others and the list, copies.py a list in which a text stands twice; crossing.py learns which words answer which kind
of question; heads.py holds the coefficients, trees.py the trees beside them; calibration.py is the file they come from;
surface.py makes texts alike before.
"""
