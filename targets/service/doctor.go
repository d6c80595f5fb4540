package service

import (
	"context"
	"errors"
	"sync"
)

// Diagnosis tells whether a backend works here.
type Diagnosis struct {
	Backend Backend
	// Works: it was started, answered and was ended again.
	Works bool
	// Found is what answered, or why nothing did: one line.
	Found string
	// Hint is what would help where it does not work.
	Hint string
}

// Doctor tries every backend, all at once, by starting and ending it: nothing
// less shows that it works. It may take as long as an image may take to be
// pulled, 20 seconds. The order is that of Auto, External last.
func Doctor(ctx context.Context, choice Choice) []Diagnosis {
	starters := []candidate{
		{Container, startContainer}, {Process, startProcess}, {Embedded, startEmbedded}, {External, useExternal},
	}
	diagnoses := make([]Diagnosis, len(starters))
	var all sync.WaitGroup
	for i, c := range starters {
		all.Go(func() { diagnoses[i] = diagnose(ctx, choice, c) })
	}
	all.Wait()
	return diagnoses
}

func diagnose(ctx context.Context, choice Choice, c candidate) Diagnosis {
	service, err := c.start(ctx, choice)
	if err == nil {
		if err = service.Close(); err == nil {
			return Diagnosis{Backend: c.backend, Works: true, Found: service.String()}
		}
	}
	d := Diagnosis{Backend: c.backend, Found: err.Error()}
	var missing *Missing
	var mistake *Mistake
	switch {
	case errors.As(err, &missing):
		d.Found, d.Hint = missing.Error(), missing.Hint
	case errors.As(err, &mistake):
		d.Hint = mistake.Hint
	}
	return d
}
