"""What is written in several ways and means the same: dates, amounts, times, sizes, versions, units, short words."""
