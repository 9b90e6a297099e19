// Prints calls a second of the client and of net/http for each case: for perf/clients.py, with its arguments.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"seendb"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	must(err)
	return n
}

func bare(base, folder string, c int) func() {
	head, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("%d.head", c)))
	must(err)
	body, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("%d.body", c)))
	must(err)
	lines := strings.Split(strings.TrimSpace(string(head)), "\n")
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	return func() {
		request, err := http.NewRequest("POST", base+lines[0], bytes.NewReader(body))
		must(err)
		for _, line := range lines[1:] {
			name, value, _ := strings.Cut(line, ": ")
			request.Header.Set(name, value)
		}
		answer, err := client.Do(request)
		must(err)
		told, err := io.ReadAll(answer.Body)
		must(err)
		must(answer.Body.Close())
		if answer.StatusCode != http.StatusOK || len(told) == 0 {
			panic(answer.Status)
		}
	}
}

func rate(call func(), count int) float64 {
	begin := time.Now()
	for i := 0; i < count; i++ {
		call()
	}
	return float64(count) / time.Since(begin).Seconds()
}

func median(rates []float64) float64 {
	later := rates[len(rates)/2:]
	sort.Float64s(later)
	return later[len(later)/2]
}

func main() {
	folder, rounds, counts, base := os.Args[1], number(os.Args[2]), os.Args[3:], os.Getenv("SEENDB_URL")
	client, err := seendb.NewWith(seendb.Options{Timeout: 30 * time.Second}, base)
	must(err)
	numbers, texts := []seendb.ID{}, []seendb.ID{}
	for n := 0; n < 5_000; n++ {
		numbers = append(numbers, seendb.Number(uint64(n)))
	}
	for n := 0; n < 500; n++ {
		texts = append(texts, seendb.Text("video-"+strconv.Itoa(n)))
	}
	ctx := context.Background()
	calls := []func(){
		func() { _, err := client.Filter(ctx, seendb.Number(1), numbers); must(err) },
		func() { _, err := client.Filter(ctx, seendb.Text("u"), texts); must(err) },
		func() {
			_, err := client.RecordPlays(ctx, []seendb.Play{{User: seendb.Text("p"), Item: seendb.Text("v")}})
			must(err)
		},
	}
	for c, call := range calls {
		if rounds == 0 {
			call()
			continue
		}
		ask, own, others := bare(base, folder, c), []float64{}, []float64{}
		for round := 0; round < rounds; round++ {
			own = append(own, rate(call, number(counts[c])))
			others = append(others, rate(ask, number(counts[c])))
		}
		fmt.Println(median(own), median(others))
	}
}
