package eval

// Definition is what decided one score of a trial apart from the trial itself, as
// digests: two scores of one name whose definitions differ were not measured by the
// same rule and are not to be compared.
type Definition struct {
	// Score is the score's name.
	Score string `json:"score"`
	// MadeFrom has a short text for each part: the start of a SHA-256, or for a
	// model its provider and name before it. The parts are "module", "param.NAME" for
	// each parameter ("params" where they cannot be told apart), "model.NAME" for each
	// model block, "gold", and for a check "condition" and "values". What a part says of the trial's own target and of the
	// number of the repeat is left out, so that repeats have the same.
	MadeFrom map[string]string `json:"made_from"`
}

// MadeFrom is what the score of that name was made from; nil where the record does
// not say, as those of older engines do not.
func (r *Record) MadeFrom(score string) map[string]string {
	for _, d := range r.Definitions {
		if d.Score == score {
			return d.MadeFrom
		}
	}
	return nil
}
