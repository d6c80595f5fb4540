package evidence

import (
	"fmt"
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// ticksPerHalfDistance is how finely a latency file steps towards 100 %: the
// figure that the HdrHistogram tools use.
const ticksPerHalfDistance = 5

// LatencyFile is the name of a target's latency file.
func LatencyFile(target string) string { return "latency-" + fileName(target) + ".hgrm" }

// WriteLatency writes a histogram of nanoseconds as the percentile text that the
// public HdrHistogram plotters read, its values in milliseconds as they expect.
func WriteLatency(w io.Writer, latency *hdrhistogram.Histogram) error {
	if _, err := latency.PercentilesPrint(w, ticksPerHalfDistance, float64(time.Millisecond)); err != nil {
		return fmt.Errorf("writing latency percentiles: %w", err)
	}
	return nil
}
