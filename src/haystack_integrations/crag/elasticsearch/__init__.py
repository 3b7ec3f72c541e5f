"""One search on Elasticsearch that says how much of the index it reached, and its filters."""
