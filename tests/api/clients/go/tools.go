//go:build tools

// The generator's command, so that go.sum has the checksums of all that it is built from.
package main

import _ "github.com/deepmap/oapi-codegen/cmd/oapi-codegen"
