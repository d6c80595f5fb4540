package oracle

import (
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkOwnModel judges a million decisions of one client, by stated moments and by
// intervals.
func BenchmarkOwnModel(b *testing.B) {
	const ops = 1_000_000
	for _, name := range []string{"token bucket", "sliding log", "NGINX"} {
		p := teethPolicies()[name]
		m, err := newModel(p)
		if err != nil {
			b.Fatal(err)
		}
		r := oneByOne(rand.New(rand.NewPCG(1, 1)), p, ops, int64(time.Millisecond/2), int64(9*time.Millisecond), m)
		stamps := r.Ops.DecidedAt
		for _, way := range []string{"stated", "intervals"} {
			b.Run(name+"/"+way, func(b *testing.B) {
				if r.Ops.DecidedAt = nil; way == "stated" {
					r.Ops.DecidedAt = stamps
				}
				for b.Loop() {
					if _, err := Judge(r, "own-model"); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/ops, "ns/op-judged")
			})
		}
	}
}
