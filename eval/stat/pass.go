package stat

// PassAt is the unbiased estimate of pass@k of a case that passed c of n
// trials: the chance that at least one of k trials passes (Chen et al. 2021).
// ok is false where n trials cannot say: k > n.
func PassAt(n, c, k int) (p float64, ok bool) {
	p, ok = PassAll(n, n-c, k)
	return 1 - p, ok
}

// PassAll is the unbiased estimate of pass^k: the chance that all of k trials
// pass, C(c, k) / C(n, k). ok is false where n trials cannot say: k > n.
func PassAll(n, c, k int) (p float64, ok bool) {
	if k < 1 || k > n || c < 0 || c > n {
		return 0, false
	}
	p = 1
	for i := range k {
		p *= float64(max(c-i, 0)) / float64(n-i)
	}
	return p, true
}
