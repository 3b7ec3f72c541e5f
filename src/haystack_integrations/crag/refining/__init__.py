"""Cut documents into strips and keep those that belong to the evidence. Behind StripRefiner."""
