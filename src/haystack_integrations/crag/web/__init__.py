"""The web as a source: providers and their breakers, the chain that asks them, and what their results become."""
