// go run make_rows_go.go > rows_go.jsonl: rand.Shuffle and rand.Perm of math/rand.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
)

func deck(count int) []int {
	row := make([]int, count)
	for i := range row {
		row[i] = i
	}
	return row
}

func print(family string, count int, seed int64, draws []int) {
	text, _ := json.Marshal(draws)
	fmt.Printf(`{"family": "%s", "output": "shuffle", "modulus": %d, "seed": %d, "first": %s}`+"\n",
		family, count, seed, text)
}

func main() {
	for _, seed := range []int64{0, 1234, 20240229, 2147483646} {
		for _, count := range []int{52, 49, 16} {
			shuffled := rand.New(rand.NewSource(seed))
			permuted := rand.New(rand.NewSource(seed))
			var first, second []int
			for r := 0; r < 3; r++ {
				row := deck(count)
				shuffled.Shuffle(count, func(i, j int) { row[i], row[j] = row[j], row[i] })
				first = append(first, row...)
				second = append(second, permuted.Perm(count)...)
			}
			print("go_rows", count, seed, first)
			print("go_perm_rows", count, seed, second)
		}
	}
}
