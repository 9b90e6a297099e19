module roundtrip

go 1.19

require github.com/deepmap/oapi-codegen v1.12.4

require (
	github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
	github.com/google/uuid v1.3.0 // indirect
)
