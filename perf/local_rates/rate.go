// Prints candidates a second of numbers and of texts, and how many of all were unseen: for `run`, with its arguments.
package main

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strconv"
	"time"

	"seendb"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	var given [4]int
	for i := range given {
		number, err := strconv.Atoi(os.Args[1+i])
		must(err)
		given[i] = number
	}
	items, pages, page, rounds := given[0], given[1], given[2], given[3]
	client, err := seendb.NewWith(seendb.Options{Timeout: time.Minute}, os.Getenv("SEENDB_URL"))
	must(err)
	local, err := client.LocalFilter(context.Background(), seendb.Text("u"), seendb.LocalOptions{Refresh: -1})
	must(err)
	unseen := 0
	rate := func(of func(n int) seendb.ID) float64 {
		asked := make([][]seendb.ID, pages)
		for i := 0; i < pages*page; i++ {
			asked[i/page] = append(asked[i/page], of(i*7919%items))
		}
		rates := []float64{}
		for round := 0; round < rounds; round++ {
			begin := time.Now()
			for _, one := range asked {
				found, err := local.Filter(one)
				must(err)
				unseen += len(found.Unseen)
			}
			rates = append(rates, float64(pages*page)/time.Since(begin).Seconds())
		}
		sort.Float64s(rates[rounds/2:])
		return rates[rounds/2+rounds/4]
	}
	numbers := rate(func(n int) seendb.ID { return seendb.Number(uint64(n)) })
	texts := rate(func(n int) seendb.ID { return seendb.Text("v" + strconv.Itoa(n)) })
	fmt.Println(numbers, texts, unseen)
}
