package incumbent

import (
	"context"
)

// stand takes part in the job's election until ctx ends. The election's machine deals the items while this instance
// leads. It does not stand while the configuration or the strategy is not known, or an operator has disabled the
// server.
func (r *jobRun) stand(ctx context.Context) {
	j := r.job
	options := LatchOptions{ID: j.options.ID, Retry: j.options.Retry}
	election, err := j.client.newJobElection(j.path, options, map[string]string{"server": j.options.Server,
		"deals": "true"}, false)
	if err == nil {
		r.setElection(election)
		err = election.Run(ctx, func(l *Leadership) error {
			<-l.Context().Done()
			return nil
		})
	}
	if err != nil && ctx.Err() == nil {
		r.cancel(err)
	}
}

func (r *jobRun) setElection(e *JobElection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.election = e
}

func (r *jobRun) electionNow() *JobElection {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.election
}

// leads reports whether this instance may be believed to lead.
func (r *jobRun) leads() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.election != nil && r.election.HasLeadership()
}
