// Package supervisor starts one program in isolation and ends everything that the program started.
//
// A second process, the supervisor, is between the caller and the program, since a caller that was
// killed can end nothing any more. It is the caller's own executable, started again under a name of its
// own (see init in child.go), in a session of its own. It
//
//   - closes what a process inherits: descriptors, ignored and blocked signals, the file mode mask, soft
//     resource limits, the controlling terminal. What it cannot close (a hard limit, niceness) it reports;
//   - starts the program as the leader of a process group. On Linux the program gets a parent-death
//     signal, and the supervisor adopts orphans, so that a process which left the group is found too;
//   - ends every process of the run on an order, and when the caller is gone: then it also removes the
//     staging directory, which nobody else can.
//
// On macOS nothing tells a process which left the group from a stranger; only the group is ended there.
//
// The two processes speak JSON over two pipes, an order a line and an answer a line:
//
//	guard {dir} or {parent}          the directory to remove when the caller is gone,
//	                                 or where to make one                              → dir, inherited
//	start {path, argv, env, dir}     start the program                                 → pid, or error
//	                                 (later, unasked)                                  → how it ended
//	kill                             end all processes now
//	finish                           end what is left after the program's end          → done, or error
//	release                          exit and leave the directory alone
//
// The end of the orders without a release means that the caller is gone.
package supervisor
