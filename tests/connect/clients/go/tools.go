//go:build tools

package main

import _ "google.golang.org/protobuf/cmd/protoc-gen-go"
