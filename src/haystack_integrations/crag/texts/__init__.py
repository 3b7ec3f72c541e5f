"""How texts are read: words, terms, sentences, and how they are worded against a question."""
