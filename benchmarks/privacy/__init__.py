"""What leaks beside what people would use instead, and what a lying analyst reads."""
