module feed

go 1.19

require seendb v0.1.0

replace seendb => ../../go
