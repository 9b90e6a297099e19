// Calls a server by connect-go: main URL. The messages are made by protoc-gen-go, in seendbv1.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"connectrpc.com/connect"

	"connectclient/seendbv1"
)

func check(holds bool, what ...any) {
	if !holds {
		fmt.Fprintln(os.Stderr, what...)
		os.Exit(1)
	}
}

func call(user string, options ...connect.ClientOption) {
	const last = ^uint64(0)
	base := os.Args[1] + "/seendb.v1.SeenDB/"
	plays := connect.NewClient[seendbv1.RecordPlaysRequest, seendbv1.RecordResponse](
		http.DefaultClient, base+"RecordPlays", options...)
	filter := connect.NewClient[seendbv1.FilterRequest, seendbv1.FilterResponse](
		http.DefaultClient, base+"Filter", options...)
	ctx := context.Background()
	told, err := plays.CallUnary(ctx, connect.NewRequest(&seendbv1.RecordPlaysRequest{Events: []*seendbv1.Play{{
		Who: &seendbv1.Play_User{User: user}, What: &seendbv1.Play_ItemNumber{ItemNumber: last}}}}))
	check(err == nil && told.Msg.Accepted == 1, "plays", told, err)
	answer, err := filter.CallUnary(ctx, connect.NewRequest(&seendbv1.FilterRequest{
		Who: &seendbv1.FilterRequest_User{User: user}, ItemNumbers: []uint64{1, last, 3}}))
	check(err == nil && fmt.Sprint(answer.Msg.UnseenNumbers) == "[1 3]", "filter", answer, err)
	_, err = filter.CallUnary(ctx, connect.NewRequest(&seendbv1.FilterRequest{}))
	var failure *connect.Error
	check(errors.As(err, &failure) && failure.Code() == connect.CodeInvalidArgument, "no user", err)
	detail, err := failure.Details()[0].Value()
	fault, is := detail.(*seendbv1.Fault)
	check(err == nil && is && fault.Field == "/user", "detail", detail, err)
}

func main() {
	call("go-proto", connect.WithSendGzip())
	call("go-json", connect.WithProtoJSON())
	fmt.Println("go: called")
}
