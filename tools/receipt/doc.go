// Package receipt builds the in-toto statement that binds what was built, what ran, what was judged
// and by which policy.
package receipt
