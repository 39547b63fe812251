// GNUstep's headers include this file of libobjc2 where blocks are on. GCC's runtime has none; ../../runtime has the functions.
