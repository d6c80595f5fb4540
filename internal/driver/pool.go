package driver

import "sync"

// pool holds the free workers, the last one used first: its stack and columns
// are warm. There are as many workers as requests may be in flight.
type pool struct {
	mu      sync.Mutex
	free    []*worker
	waiting []*client // clients whose start found no worker free
	busy    int
	closing bool
	quiet   chan struct{} // closed when closing and no worker is busy
}

// take returns a free worker, nil when all are busy.
func (p *pool) take() *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pop()
}

func (p *pool) pop() *worker {
	n := len(p.free)
	if n == 0 {
		return nil
	}
	w := p.free[n-1]
	p.free = p.free[:n-1]
	p.busy++
	return w
}

// takeFor returns a free worker for the client; when all are busy it is nil,
// and the client gets the next that becomes free.
func (p *pool) takeFor(c *client) *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.pop()
	if w == nil {
		p.waiting = append(p.waiting, c)
	}
	return w
}

// put makes w free, unless a client waits: then w shall carry that one.
func (p *pool) put(w *worker) *client {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) > 0 {
		c := p.waiting[0]
		p.waiting = p.waiting[1:]
		return c
	}
	p.free = append(p.free, w)
	p.leave()
	return nil
}

// lose forgets a busy worker that is no more.
func (p *pool) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leave()
}

func (p *pool) leave() {
	p.busy--
	if p.closing && p.busy == 0 {
		close(p.quiet)
	}
}

// drained says that no more jobs will be taken, and returns a channel that
// closes once every worker is free.
func (p *pool) drained() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closing = true
	if p.busy == 0 {
		close(p.quiet)
	}
	return p.quiet
}
