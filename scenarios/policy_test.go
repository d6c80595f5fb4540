package scenarios

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

func TestPolicyAlone(t *testing.T) {
	hundred := rlbench.Policy{Algorithm: rlbench.SlidingLog, Limits: []rlbench.Limit{{Count: 100, Per: time.Minute}}}
	fifty := hundred
	fifty.Limits = []rlbench.Limit{{Count: 50, Per: time.Minute}}
	for _, row := range []struct {
		why, text string
		want      rlbench.Policy
	}{
		{"the field alone", "policy: {algorithm: sliding-log, limit: 100/1m}", hundred},
		{"with a variable", `policy: {algorithm: sliding-log, limit: "${LIMIT}"}`, fifty},
		{"a scenario, whose variables elsewhere need not be set", minimal("why: ${NOBODY}", "policy: {algorithm: sliding-log, limit: 100/1m}"), hundred},
	} {
		got, err := ParsePolicy("p.yaml", []byte(row.text), testEnv)
		if err != nil || !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: %+v, %v", row.why, got, err)
		}
	}
}

func TestPolicyAloneMistakes(t *testing.T) {
	for _, row := range []struct{ why, text, want string }{
		{"nothing", "", "p.yaml: there is no policy in it"},
		{"the policy's fields without the policy", "algorithm: sliding-log\n", "p.yaml:1:1: there is no policy in it"},
		{"no value", "policy:\n", `p.yaml:1:1: "policy" is empty`},
		{"a misspelt field has its place", "policy:\n  algorithm: sliding-log\n  limt: 100/1m\n", "p.yaml:3:3: "},
		{"a variable that is not set", "policy: {algorithm: sliding-log, limit: \"${NOBODY}\"}", "no variable NOBODY"},
		{"a promise that is none", "policy: {algorithm: gcra, limit: 10/s}", "needs a burst"},
	} {
		_, err := ParsePolicy("p.yaml", []byte(row.text), nil)
		var all Mistakes
		if !errors.As(err, &all) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: want %q, got %v", row.why, row.want, err)
		}
	}
}
