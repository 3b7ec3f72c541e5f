"""What files of each kind say, as Markdown: for the converters, which know Haystack, and nothing of what is inside."""
