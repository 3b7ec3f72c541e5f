"""What is looked at first in any model's reply: cuts, thoughts, JSON. Nothing is invented."""
