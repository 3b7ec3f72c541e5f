"""Chat models inside of components: what is known of a generator, its life cycle, calls in time, and failures."""
