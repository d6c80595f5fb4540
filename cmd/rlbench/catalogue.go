package main

import (
	"sort"

	"github.com/rlbench/rlbench/oracle"
	"github.com/rlbench/rlbench/scenarios"
	"github.com/rlbench/rlbench/targets"
	"github.com/rlbench/rlbench/targets/memory"
	"github.com/rlbench/rlbench/targets/redis"
)

// designs are all limiter designs by name, in order of name.
func designs() []targets.Design {
	var all []targets.Design
	all = append(all, memory.Designs()...)
	all = append(all, redis.Designs()...)
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

// design finds one by name; nil when there is none.
func design(name string) *targets.Design {
	for _, d := range designs() {
		if d.Name == name {
			return &d
		}
	}
	return nil
}

// catalogue is what a scenario may name.
func catalogue() scenarios.Catalogue {
	var c scenarios.Catalogue
	for _, d := range designs() {
		c.Targets = append(c.Targets, scenarios.TargetInfo{Name: d.Name, Algorithm: d.Algorithm, Anchors: d.Anchors, Resolution: d.Resolution})
	}
	for _, check := range oracle.Checks() {
		c.Checks = append(c.Checks, check.Name)
	}
	return c
}
