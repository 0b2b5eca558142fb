/* Stands in for the bash of Git for Windows: prints its last argument, as a shell that was told to echo it. */
#include <stdio.h>

int main(int count, char **words) {
  printf("%s\n", words[count - 1]);
  return 0;
}
