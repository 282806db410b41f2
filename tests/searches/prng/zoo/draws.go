// go run draws.go CALL SEED COUNT MODULUS: one draw in a line
package main

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"
)

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	seed, count, m := number(os.Args[2]), number(os.Args[3]), number(os.Args[4])
	source := rand.New(rand.NewSource(int64(seed)))
	draw := map[string]func() int{
		"Intn":    func() int { return source.Intn(m) },
		"Int31n":  func() int { return int(source.Int31n(int32(m))) },
		"Float64": func() int { return int(source.Float64() * float64(m)) },
	}[os.Args[1]]
	row := make([]int, m)
	for made := 0; made < count; {
		switch os.Args[1] {
		case "Shuffle":
			for i := range row {
				row[i] = i
			}
			source.Shuffle(m, func(i, j int) { row[i], row[j] = row[j], row[i] })
		case "Perm":
			row = source.Perm(m)
		default:
			row = []int{draw()}
		}
		for _, value := range row {
			fmt.Println(value)
		}
		made += len(row)
	}
}
