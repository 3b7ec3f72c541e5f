"""Grade documents by a chat model, a batch in one call: plan, prompt, reply, cache. Behind BatchRelevanceGrader."""
