// Prints vectors of math/rand: go run make_go.go
package main

import (
	"fmt"
	"math/rand"
	"strings"
)

var seeds = []int64{0, 1, 42, -1, 1 << 40}
var moduli = []int{7, 1000, 1024, 1610612736}

func line(output string, seed int64, modulus int, call func(*rand.Rand) uint64) {
	source := rand.New(rand.NewSource(seed))
	var first, later []string
	for i := 0; i < 1006; i++ {
		value := fmt.Sprint(call(source))
		if i < 6 {
			first = append(first, value)
		} else if i >= 1000 {
			later = append(later, value)
		}
	}
	fmt.Printf(`{"family": "go", "output": "%s", "seed": %d, "modulus": %d,`, output, uint64(seed), modulus)
	fmt.Printf(` "first": [%s], "later": [%s]}`+"\n", strings.Join(first, ", "), strings.Join(later, ", "))
}

func main() {
	for _, seed := range seeds {
		line("raw", seed, 1000, func(r *rand.Rand) uint64 { return r.Uint64() })
		for _, m := range moduli {
			m := m
			line("bounded", seed, m, func(r *rand.Rand) uint64 { return uint64(r.Intn(m)) })
			line("mod", seed, m, func(r *rand.Rand) uint64 { return uint64(r.Int() % m) })
			line("scaled", seed, m, func(r *rand.Rand) uint64 { return uint64(r.Float64() * float64(m)) })
		}
	}
}
