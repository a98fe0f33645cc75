//go:build ignore

// Generate writes data/orders.csv: one quarter of order lines of a shop that does
// not exist, the same bytes each time. Run it in this folder: go run generate.go
package main

import (
	"encoding/csv"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strconv"
	"time"
)

type product struct {
	name, category string
	cents          int // in the currency of the shop that sells it
	weight         int
}

var products = []product{
	{"Aeropress Go", "brewing", 3995, 9},
	{"Burr grinder M2", "grinding", 18900, 5},
	{"Cleaning tablets", "care", 1250, 12},
	{"Dripper 02", "brewing", 2450, 10},
	{"Espresso cup", "table", 890, 16},
	{"Filter paper 100", "brewing", 475, 22},
	{"Gooseneck kettle", "brewing", 7990, 7},
	{"House blend 1kg", "beans", 2190, 28},
	{"Knock box", "table", 3300, 4},
	{"Milk jug 350", "table", 2675, 6},
	{"Scale 0.1g", "grinding", 5450, 8},
	{"Single origin 250g", "beans", 1145, 24},
}

// shops sell in one currency each; DACH has two of them, and the web shop
// books its lines without a region.
var shops = []struct {
	region, currency string
	weight           int
}{
	{"Benelux", "EUR", 22},
	{"DACH", "EUR", 27},
	{"DACH", "CHF", 8},
	{"Iberia", "EUR", 18},
	{"Nordics", "EUR", 12},
	{"UK", "GBP", 20},
	{"", "EUR", 3},
}

func main() {
	file, err := os.Create("data/orders.csv")
	if err != nil {
		log.Fatal(err)
	}
	out := csv.NewWriter(file)
	out.Write([]string{"line", "ordered_on", "region", "product", "category", "kind", "quantity", "unit_price", "amount", "currency", "discount"})
	dice := rand.New(rand.NewPCG(2026, 3))
	first := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	for n := range 1380 {
		out.Write(row(dice, n+1, first.AddDate(0, 0, n/15)))
	}
	out.Flush()
	if err := out.Error(); err != nil {
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
}

// row is one order line. A return has a negative quantity and amount; a void
// line was cancelled before it was paid and has no amount at all.
func row(dice *rand.Rand, n int, day time.Time) []string {
	shop := shops[pick(dice, len(shops), func(i int) int { return shops[i].weight })]
	p := products[pick(dice, len(products), func(i int) int { return products[i].weight })]
	kind, quantity, discount := "sale", 1+dice.IntN(4), ""
	cents := p.cents * quantity
	if dice.IntN(100) < 12 {
		percent := []int{5, 10, 20}[dice.IntN(3)]
		discount = strconv.Itoa(percent)
		cents -= (cents*percent + 50) / 100
	}
	amount := money(cents)
	switch roll := dice.IntN(1000); {
	case roll < 62:
		kind, quantity, amount = "return", -quantity, "-"+amount
	case roll < 72:
		kind, amount = "void", ""
	}
	return []string{
		strconv.Itoa(n), day.Format(time.DateOnly), shop.region, p.name, p.category, kind,
		strconv.Itoa(quantity), money(p.cents), amount, shop.currency, discount,
	}
}

func pick(dice *rand.Rand, n int, weight func(int) int) int {
	total := 0
	for i := range n {
		total += weight(i)
	}
	for roll, i := dice.IntN(total), 0; ; i++ {
		if roll -= weight(i); roll < 0 {
			return i
		}
	}
}

func money(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }
