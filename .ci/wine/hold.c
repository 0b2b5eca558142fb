/* hold FILE MILLISECONDS SHARED: keeps a file open, as editors and virus scanners do; others may read it where SHARED is 1. */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

int main(int count, char **words) {
  if (count < 4) return 1;
  DWORD share = atoi(words[3]) ? FILE_SHARE_READ : 0;
  HANDLE file = CreateFileA(words[1], GENERIC_READ, share, NULL, OPEN_EXISTING, 0, NULL);
  if (file == INVALID_HANDLE_VALUE) return 1;
  printf("held\n");
  fflush(stdout);
  Sleep(atoi(words[2]));
  return 0;
}
