"""From grades to a verdict, an action and what is written down: pure functions. Behind CragRouter."""
