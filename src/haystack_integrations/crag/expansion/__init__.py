"""Other wordings of a question, by rule or by a model. Behind QueryExpander."""
