// Package seendb is the client of SeenDB, which remembers what every user was served and watched.
//
//	c, err := seendb.New("http://127.0.0.1:7373")
//	defer c.Close()
//	_, err = c.RecordPlays(ctx, []seendb.Play{{User: seendb.Text("u1"), Item: seendb.Text("v1")}})
//	found, err := c.Filter(ctx, seendb.Text("u1"), seendb.Texts("v1", "v2"))
//	// found.Unseen == seendb.Texts("v2")
//
// One client serves all goroutines. Every call has a context: its deadline, or Options.Timeout where
// it has none, is the time of the whole call, second tries included. The server is told of it, less 50 ms
// for its answer to arrive where it is the context's.
// A call fails with *Error, which has the server's code, message and field; one whose context was cancelled
// with context.Canceled.
package seendb
