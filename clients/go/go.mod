module seendb

go 1.19
