package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// listedMax is how many names a hint lists before it only counts the others.
const listedMax = 12

// suggest is the hint for a word that is none of the names: the nearest one if
// it could be a slip, otherwise what there is to choose from.
func suggest(word string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	near := slices.Clone(names)
	slices.SortStableFunc(near, func(a, b string) int {
		return cmp.Compare(editDistance(word, a), editDistance(word, b))
	})
	if slip := max(1, len(near[0])/3); editDistance(word, near[0]) <= slip {
		return fmt.Sprintf("did you mean %s?", near[0])
	}
	if i := slices.IndexFunc(names, func(n string) bool { return prefixes(n, word) }); i >= 0 {
		return fmt.Sprintf("did you mean %s?", names[i])
	}
	return "one of " + list(names)
}

// prefixes reports whether word is a beginning of name, or name of word, long
// enough to tell.
func prefixes(name, word string) bool {
	return len(word) >= 3 && len(name) >= 3 && (strings.HasPrefix(name, word) || strings.HasPrefix(word, name))
}

// list writes names for a hint.
func list(names []string) string {
	if len(names) <= listedMax {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:listedMax], ", "), len(names)-listedMax)
}

// wordMax bounds the words that are compared: the distance takes their product.
const wordMax = 100

// editDistance is the least number of characters to insert, delete or exchange,
// or neighbours to swap, that turns a into b (optimal string alignment).
func editDistance(a, b string) int {
	if len(a) > wordMax || len(b) > wordMax {
		return max(len(a), len(b))
	}
	from, to := []rune(a), []rune(b)
	var before []int
	last := make([]int, len(to)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(from); i++ {
		row := make([]int, len(to)+1)
		row[0] = i
		for j := 1; j <= len(to); j++ {
			change := 1
			if from[i-1] == to[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(to)]
}
