/* A program that somebody put into a workspace: leaves a mark where it runs. */
#include <stdio.h>

int main(void) {
  FILE *mark = fopen("planted-ran", "w");
  if (mark != NULL) fclose(mark);
  return 0;
}
