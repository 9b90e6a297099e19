// Feed serves pages without repeats from a generated catalogue:
//
//	GET /feed?user=U            {"items": [...]}: the next page, best first
//	POST /watched?user=U&item=I
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"net"
	"net/http"
	"os"
	"time"

	"seendb"
)

const (
	catalogueSize = 5_000
	pageSize      = 20
	pageTime      = 200 * time.Millisecond // for the whole page; a feed that answers late is of no use
)

func main() {
	url := os.Getenv("SEENDB_URL")
	if url == "" {
		url = "http://127.0.0.1:7373"
	}
	c, err := seendb.NewWith(seendb.Options{
		Timeout:     pageTime,
		Connections: 16, // of this process to each server
		OnCall: func(name string, took time.Duration, status, tries int) {
			if status != http.StatusOK || tries > 1 { // a metric, in a real service
				log.Printf("%s: %d after %d tries, %s", name, status, tries, took)
			}
		},
	}, url)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	http.HandleFunc("/feed", func(w http.ResponseWriter, r *http.Request) {
		user := r.URL.Query().Get("user")
		ctx, cancel := context.WithTimeout(r.Context(), pageTime)
		defer cancel()
		// LastKnown: where SeenDB does not answer in time, a page all the same, without what was served just before.
		page, err := c.FillPage(ctx, seendb.Text(user), candidates(user), pageSize, seendb.LastKnown)
		if err != nil {
			refuse(w, err)
			return
		}
		items := []string{}
		for _, item := range page {
			items = append(items, item.String())
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"items": items})
	})
	http.HandleFunc("/watched", func(w http.ResponseWriter, r *http.Request) {
		asked := r.URL.Query()
		plays := []seendb.Play{{User: seendb.Text(asked.Get("user")), Item: seendb.Text(asked.Get("item"))}}
		if _, err := c.RecordPlays(r.Context(), plays); err != nil {
			refuse(w, err)
		}
	})
	door, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", door.Addr())
	log.Fatal(http.Serve(door, nil))
}

// candidates stands for a recommender: the same for a user each time, best first.
func candidates(user string) []seendb.ID {
	seed := int64(0)
	for _, letter := range user {
		seed = seed*31 + int64(letter)
	}
	ids := []seendb.ID{}
	for _, n := range rand.New(rand.NewSource(seed)).Perm(catalogueSize) {
		ids = append(ids, seendb.Text(fmt.Sprintf("video-%04d", n)))
	}
	return ids
}

// refuse tells the browser whose fault it was: "invalid_argument" is its own.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusServiceUnavailable
	if seendb.CodeOf(err) == "invalid_argument" {
		status = http.StatusBadRequest
	}
	http.Error(w, err.Error(), status)
}
