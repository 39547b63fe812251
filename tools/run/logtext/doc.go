// Package logtext turns a log file into the lines that a program wrote.
//
// A log reaches a judge through terminals, containers, CI services and system loggers, each of which
// dresses its lines. Read undresses them in one place, for every kind of run, or refuses the file by
// name; it never guesses:
//
//  1. gzip is unpacked; other archives are refused by the name of their format;
//  2. UTF-16 becomes UTF-8, and a byte-order mark goes; UTF-32 and bytes that are no text are refused;
//  3. lines end in LF, CR LF, or, in a file without LF, in CR;
//  4. colour codes and codes that erase the rest of a line are taken off; codes that move the cursor are
//     refused;
//  5. a prefix that is before every line (time stamps, container and system logs, CI services) is
//     taken off; where it says which stream a line is of, the line goes there. One that nobody wrote down is taken off if it is
//     before every line of whisper.cpp's, the same but for numbers that never fall;
//  6. records of one line each (JSON, logfmt) become the lines in them;
//  7. a log whose characters another program rewrote (HTML, typographic quotation marks, broken lines) is refused by
//     the name of the rewriting.
//
// Lines in which a carriage return, a backspace or an invisible character occurs are kept as they are.
// They prove nothing, but a fault is still found in them: see [Faces].
package logtext
