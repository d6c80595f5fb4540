package evidence

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"github.com/rlbench/rlbench"
)

func TestAnyRunsComeBackAsTheyWereSaved(t *testing.T) {
	parameters := gopter.DefaultTestParametersWithSeed(1)
	parameters.MinSuccessfulTests = 40
	if n, err := strconv.Atoi(os.Getenv("RLBENCH_HISTORIES")); err == nil {
		parameters.MinSuccessfulTests = n
	}
	properties := gopter.NewProperties(parameters)
	properties.Property("load(save(runs)) = runs", prop.ForAll(func(seed int64, sizes []int) (string, error) {
		random := rand.New(rand.NewPCG(uint64(seed), 0))
		var runs []*rlbench.Run
		for i, n := range sizes {
			runs = append(runs, anyRun(random, fmt.Sprintf("target-%d%s", i, []string{"", "ü", "<"}[i%3]), n))
		}
		return reloaded(t, runs)
	}, gen.Int64(), gen.SliceOfN(3, gen.IntRange(0, 40))))
	properties.TestingRun(t)
}

// Batches, pages and row groups all have edges; what lies across one must not
// be lost, doubled or moved.
func TestRowsAcrossBatchesAndPagesKeepTheirOrder(t *testing.T) {
	for _, n := range []int{0, 1, batchRows - 1, batchRows, batchRows + 1, groupRowsMax + 1} {
		run := anyRun(rand.New(rand.NewPCG(uint64(n), 1)), "a", n)
		if d, err := reloaded(t, []*rlbench.Run{run, traffic("b", 3*batchRows+7)}); d != "" || err != nil {
			t.Errorf("%d ops: %v %v", n, d, err)
		}
	}
}

// What the limiter first said late in a run stands in the right rows.
func TestColumnThatBeginsLate(t *testing.T) {
	run := traffic("a", 5*batchRows)
	run.Ops.Limit = many(run.Ops.Len(), func() int64 { return rlbench.None })
	run.Ops.Limit[4*batchRows+3] = 100
	run.Ops.Errors = []string{"", "timeout"}
	run.Ops.Error = make([]uint32, run.Ops.Len())
	run.Ops.Error[4*batchRows+3] = 1
	if d, err := reloaded(t, []*rlbench.Run{run}); d != "" || err != nil {
		t.Error(d, err)
	}
}

func reloaded(t *testing.T, runs []*rlbench.Run) (string, error) {
	_, loaded, err := Load(save(t, runs...).Path())
	if err != nil {
		return "", err
	}
	if len(loaded) != len(runs) {
		return fmt.Sprintf("%d runs of %d", len(loaded), len(runs)), nil
	}
	for i := range runs {
		if d := difference(runs[i], loaded[i]); d != "" {
			return d, nil
		}
	}
	return "", nil
}

func TestEscapedTextIsUTF8AndComesBack(t *testing.T) {
	seen := map[string]string{}
	for _, text := range hostile {
		escaped := escape(text)
		if strings.ToValidUTF8(escaped, "?") != escaped {
			t.Errorf("%q is escaped to %q, which is no UTF-8", text, escaped)
		}
		if unescape(escaped) != text {
			t.Errorf("%q comes back as %q", text, unescape(escaped))
		}
		if other, taken := seen[escaped]; taken {
			t.Errorf("%q and %q are one text in the file", text, other)
		}
		seen[escaped] = text
	}
}

func TestDescribedHeadComesBack(t *testing.T) {
	head := Head{
		Scenario: Scenario{Name: "race", Source: "scenarios/race.yaml", Text: "name: race\n# <why>\n", Hash: "sha256:00"},
		Seed:     1<<53 + 1,
		Versions: map[string]string{"rlbench": "0.1.0", "go": "go1.26"},
		Host:     LocalHost(),
	}
	folder := save(t)
	if err := folder.Describe(head); err != nil {
		t.Fatal(err)
	}
	if err := folder.AddRun(traffic("a", 3)); err != nil {
		t.Fatal(err)
	}
	file, _, err := Load(folder.Path())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(file.Head, head) {
		t.Errorf("the head came back as %+v, not %+v", file.Head, head)
	}
	if file.SchemaVersion != SchemaVersion || len(file.Targets) != 1 || file.Targets[0].Ops != 3 {
		t.Errorf("run.json says %+v", file)
	}
}

func BenchmarkAddRun(b *testing.B) {
	run := traffic("memory-sliding-log", 1_000_000)
	for b.Loop() {
		save(b, run)
	}
	b.ReportMetric(float64(run.Ops.Len())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// The second of two equal targets costs the copy of the first beside its own
// rows: compare with BenchmarkAddRun.
func BenchmarkAddSecondRun(b *testing.B) {
	first, second := traffic("a", 1_000_000), traffic("b", 1_000_000)
	for b.Loop() {
		b.StopTimer()
		folder := save(b, first)
		b.StartTimer()
		if err := folder.AddRun(second); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	run := traffic("memory-sliding-log", 1_000_000)
	path := save(b, run).Path()
	for b.Loop() {
		if _, _, err := Load(path); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(run.Ops.Len())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
