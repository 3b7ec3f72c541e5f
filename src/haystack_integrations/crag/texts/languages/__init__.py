"""What depends on the language of a text: its words of grammar, stems, forms and spellings, and where sentences end."""
