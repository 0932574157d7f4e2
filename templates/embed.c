/* SPDX-License-Identifier: Apache-2.0 */
/* Build-time program: embed OUT.c FILE… writes the files' text, one behind the other, as the array template_text;
   embed OUT.c -n NAME FILE writes one file as the array NAME, its size as NAME_bytes. */
#include <stdio.h>
#include <string.h>

static int embed_file(FILE *out, const char *path) {
  FILE *in = fopen(path, "rb");
  if (!in) {
    fprintf(stderr, "embed: %s cannot be opened; check the list in meson.build\n", path);
    return 1;
  }
  for (int c, column = 0; (c = getc(in)) != EOF; column = (column + 1) % 32) fprintf(out, "%d,%s", c, column == 31 ? "\n" : "");
  int bad = ferror(in);
  fclose(in);
  return bad;
}

int main(int argc, char **argv) {
  FILE *out = argc > 2 ? fopen(argv[1], "wb") : NULL;
  if (!out) {
    fprintf(stderr, "embed: usage: embed OUT.c FILE...\n");
    return 2;
  }
  int bad = 0;
  if (argc == 5 && strcmp(argv[2], "-n") == 0) {
    fprintf(out, "#include <stddef.h>\nextern const unsigned char %s[];\nextern const size_t %s_bytes;\n", argv[3], argv[3]);
    fprintf(out, "const unsigned char %s[] = {\n", argv[3]);
    bad = embed_file(out, argv[4]);
    fprintf(out, "};\nconst size_t %s_bytes = sizeof %s;\n", argv[3], argv[3]);
    return bad | (fclose(out) != 0);
  }
  fprintf(out, "#include \"templates.h\"\nconst char template_text[] = {\n");
  for (int i = 2; i < argc; i++) bad |= embed_file(out, argv[i]);
  fprintf(out, "0};\nconst size_t template_bytes = sizeof template_text - 1;\n");
  return bad | (fclose(out) != 0);
}
