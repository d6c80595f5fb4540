package evidence

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// plotted reads a latency file as the plotters do: the first column is the value
// in milliseconds, the second the share, the third the count; lines that begin
// with # are for people.
func plotted(t *testing.T, text string) (values, shares []float64, counts []int64) {
	t.Helper()
	lines := bufio.NewScanner(strings.NewReader(text))
	if !lines.Scan() || strings.Join(strings.Fields(lines.Text()), " ") != "Value Percentile TotalCount 1/(1-Percentile)" {
		t.Fatalf("the heading is %q", lines.Text())
	}
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		value, err1 := strconv.ParseFloat(fields[0], 64)
		share, err2 := strconv.ParseFloat(fields[1], 64)
		count, err3 := strconv.ParseInt(fields[2], 10, 64)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatalf("line %q: %v", lines.Text(), err)
		}
		values, shares, counts = append(values, value), append(shares, share), append(counts, count)
	}
	return values, shares, counts
}

func percentiles(t *testing.T, h *hdrhistogram.Histogram) string {
	t.Helper()
	var out bytes.Buffer
	if err := WriteLatency(&out, h); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestLatencyFileHoldsMilliseconds(t *testing.T) {
	h := hdrhistogram.New(1, 60_000_000_000, 3)
	for ms := int64(1); ms <= 1000; ms++ {
		if err := h.RecordValue(ms * 1_000_000); err != nil {
			t.Fatal(err)
		}
	}
	values, shares, counts := plotted(t, percentiles(t, h))
	last := len(values) - 1
	if last < 20 || shares[0] != 0 || shares[last] != 1 || counts[last] != 1000 {
		t.Errorf("%d lines from the share %v to %v, of %d values", last+1, shares[0], shares[last], counts[last])
	}
	for i := range values {
		if i > 0 && (values[i] < values[i-1] || shares[i] < shares[i-1] || counts[i] < counts[i-1]) {
			t.Errorf("line %d falls behind the one before", i)
		}
		// A value of 3 digits is within a thousandth of the true one.
		if want := float64(counts[i]); values[i] < want*0.999 || values[i] > want*1.002 {
			t.Errorf("%d of the latencies are at most %v ms, not %v", counts[i], values[i], want)
		}
	}
}

func TestLatencyFileOfNothing(t *testing.T) {
	text := percentiles(t, hdrhistogram.New(1, 1_000_000_000, 3))
	if strings.Contains(text, "NaN") {
		t.Errorf("nothing was measured, and it says\n%s", text)
	}
	values, _, counts := plotted(t, text)
	for i := range values {
		if values[i] != 0 || counts[i] != 0 {
			t.Errorf("nothing was measured, and %d values are %v", counts[i], values[i])
		}
	}
}

func TestLatencyFileNames(t *testing.T) {
	for target, want := range map[string]string{"redis-gcra": "latency-redis-gcra.hgrm", "a/b": "latency-a-b-"} {
		if got := LatencyFile(target); !strings.HasPrefix(got, want) || strings.Contains(got, "/") {
			t.Errorf("%s has the latency file %s", target, got)
		}
	}
	if err := WriteLatency(fullDisk{}, hdrhistogram.New(1, 1000, 3)); !errors.Is(err, errFull) {
		t.Errorf("on a full disk the error is %v", err)
	}
}

var errFull = errors.New("disk full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, fmt.Errorf("writing: %w", errFull) }
