package discovery

// Handles returns how many registrations and caches a Discovery would close.
func Handles(d *Discovery) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.open)
}

// Errors returns of how many instances a provider keeps errors.
func Errors(p *Provider) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.errors)
}
