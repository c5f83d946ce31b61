/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ONNX files and graphs that are refused, each with its reason, and where
 * shapes come from other than an operator's rule. */

#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>

#include <cmocka.h>

#include "unit.h"

#include "onnx_model.h"
#include "tests/messages.h"

/* A node of a graph; names are separated by blanks. */
struct small_node {
  const char *op, *inputs, *outputs;
};

static void put_names(struct dl_text *t, unsigned field, const char *names) {
  char text[64], *save;
  snprintf(text, sizeof text, "%s", names);
  for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save))
    put_string(t, field, w);
}

static struct dl_text node_of(const struct small_node *n) {
  struct dl_text node = {0};
  put_names(&node, 1, n->inputs);
  put_names(&node, 2, n->outputs);
  put_string(&node, 4, n->op);
  return node;
}

/* A graph of up to three nodes from x, of 1x8, to y. */
static struct dl_text graph_of(const struct small_node *n) {
  struct dl_text graph = {0}, in = value_info("x", 1, "1x8"), out = {0};
  for (size_t i = 0; i < 3 && n[i].op; i++) {
    struct dl_text node = node_of(&n[i]);
    put_message(&graph, 1, &node);
  }
  put_message(&graph, 11, &in);
  put_string(&out, 1, "y");
  put_message(&graph, 12, &out);
  return graph;
}

/* The model of a graph, which is freed. */
static struct dl_text model_of(struct dl_text *graph) {
  struct dl_text model = {0}, opset = {0};
  put_number(&model, 1, 8);
  put_message(&model, 7, graph);
  put_number(&opset, 2, 17);
  put_message(&model, 8, &opset);
  return model;
}

/* Checks that a model, which is freed, is refused with that text. */
static void assert_refused(struct dl_text *model, const char *text) {
  struct dl_diag d = {0};
  struct dl_onnx *m;
  struct dl_onnx_count *c;
  assert_int_equal(count_bytes(model, &dl_onnx_as_it_is, &m, &c, &d),
                   DL_EINPUT);
  assert_error_has(&d, DL_EINPUT, text);
  dl_onnx_free(m);
  dl_text_free(model);
}

static void test_files(void **state) {
  static const struct {
    const char *bytes;
    size_t n;
    const char *says;
  } files[] = {
      {"", 0, MSG_empty_not_onnx_model},
      {"energy_j,duration_s\n", 20, "not an ONNX model"},
      {"\x3a\x80\x80\x80\x80\x80\x80\x80\x80\x40", 10, "cut off"},
      {"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11,
       "a number of more than 64 bits"},
      {"\x4b\x4c", 2, "no such kind of field"},
      {"\x00\x01", 2, "no field has such a number"},
      {"\x38\x01", 2, "a number in place of a message"},
      {"\x08\x08\x42\x02\x10\x11", 6, "no graph"},
      {"\x08\x08\x3a\x00", 4, "no version of its operators"},
      {"\x3a\x00\x3a\x00", 4, "a field is there twice"},
      {"\x0d\x01\x02\x03", 4, "cut off"},
      {"\x0a\x02me", 4, "a field of the wrong kind"},
  };
  (void)state;
  for (size_t i = 0; i < COUNT(files); i++) {
    struct dl_text model = {0};
    dl_text_add_n(&model, files[i].bytes, files[i].n);
    assert_refused(&model, files[i].says);
  }
  struct dl_diag d = {0};
  struct dl_onnx *m;
  assert_int_equal(dl_onnx_open(&m, "/nowhere/none.onnx", &d), DL_EFAILED);
  assert_error_has(&d, DL_EFAILED, "cannot open");
}

/* A stream is read as a file is. */
static void test_standard_input(void **state) {
  struct dl_text graph = graph_of((struct small_node[4]){{"Relu", "x", "y"}});
  struct dl_text model = model_of(&graph);
  struct dl_diag d = {0};
  struct dl_onnx *m;
  int ends[2], was = dup(STDIN_FILENO);
  (void)state;
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], model.s, model.len), (long)model.len);
  close(ends[1]);
  assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
  close(ends[0]);
  clearerr(stdin);
  assert_ok(dl_onnx_open(&m, "-", &d), &d);
  assert_int_equal(dl_onnx_file_bytes(m), model.len);
  assert_true(dup2(was, STDIN_FILENO) >= 0);
  close(was);
  dl_onnx_free(m);
  dl_text_free(&model);
}

/* A file with fields that no count needs, of every wire type, and weights that
 * are long or come one by one. */
static void test_skipped_fields(void **state) {
  struct dl_text graph = graph_of((struct small_node[4]){{"Add", "x w", "y"}});
  struct dl_text w = {0}, zeros = {0}, opset = {0}, model = {0};
  struct dl_diag d = {0};
  struct dl_onnx *m;
  struct dl_onnx_count *c;
  (void)state;
  for (size_t i = 0; i < 40000; i++)
    dl_text_add_n(&zeros, "\0\0\0", 4);
  put_number(&w, 1, 40000);
  put_number(&w, 1, 1);
  put_number(&w, 2, 1);
  put_string(&w, 8, "w");
  put_bytes(&w, 9, zeros.s, zeros.len);
  put_message(&graph, 5, &w);
  put_number(&w, 1, 600);
  put_number(&w, 2, 1);
  put_string(&w, 8, "unused");
  for (size_t i = 0; i < 600; i++)
    put_float(&w, 4, 1);
  put_message(&graph, 5, &w);
  put_number(&model, 1, 8);
  put_string(&model, 2, "by hand");
  put_string(&model, 99, "what later versions have");
  put_number(&model, 98, 1);
  put_float(&model, 97, 1);
  put_varint(&model, 96 << 3 | 1);
  dl_text_add_n(&model, "12345678", 8);
  put_message(&model, 7, &graph);
  put_string(&opset, 1, "ai.onnx");
  put_number(&opset, 2, 17);
  put_message(&model, 8, &opset);
  assert_ok(count_bytes(&model, &dl_onnx_as_it_is, &m, &c, &d), &d);
  assert_string_equal(dl_onnx_producer(m), "by hand");
  assert_int_equal(c->output[0].shape.dim[0], 40000);
  assert_true(c->params == 40000);
  dl_onnx_count_free(c);
  dl_onnx_free(m);
  dl_text_free(&model);
  dl_text_free(&zeros);
}

static void test_graphs(void **state) {
  static const struct {
    struct small_node node[4];
    const char *says;
  } graphs[] = {
      {{{"Add", "x b", "a"}, {"Relu", "a", "b"}, {"Relu", "a", "y"}},
       "the graph has a cycle through node"},
      {{{"Relu", "x", "y"}, {"Exp", "x", "y"}}, MSG_two_nodes_give_value("y")},
      {{{"Relu", "z", "y"}}, "reads 'z', which nothing gives"},
      {{{"Relu", "x", "a"}}, MSG_nothing_gives_output("y")},
      {{{"If", "x", "y"}}, "no graph to run"},
      {{{"Loop", "x x", "y"}}, "no graph to run"},
      {{{"Scan", "x", "y"}}, "no graph to run"},
  };
  (void)state;
  for (size_t i = 0; i < COUNT(graphs); i++) {
    struct dl_text graph = graph_of(graphs[i].node);
    struct dl_text model = model_of(&graph);
    assert_refused(&model, graphs[i].says);
  }
}

static void test_tensors(void **state) {
  static const struct {
    const char *dims, *says;
  } tensors[] = {
      {"1x1x1x1x1x1x1x1x1", "a tensor of more than 8 dimensions"},
      {"99999999x99999999x99", "a tensor of more than 2^53 elements"},
  };
  (void)state;
  for (size_t i = 0; i < COUNT(tensors); i++) {
    struct dl_text graph =
        graph_of((struct small_node[4]){{"Add", "x w", "y"}});
    struct dl_text w = tensor_proto("w", 1, tensors[i].dims, NULL, 0);
    put_message(&graph, 5, &w);
    struct dl_text model = model_of(&graph);
    assert_refused(&model, tensors[i].says);
  }
  struct dl_text graph = graph_of((struct small_node[4]){{"Add", "x w", "y"}});
  struct dl_text w = {0};
  put_number(&w, 1, -1);
  put_string(&w, 8, "w");
  put_message(&graph, 5, &w);
  struct dl_text model = model_of(&graph);
  assert_refused(&model, "a negative dimension");
}

/* Counts a graph, which is freed, and checks the shape of its output. */
static void assert_output(struct dl_text *graph, const char *shape) {
  struct dl_text model = model_of(graph), got = {0};
  struct dl_diag d = {0};
  struct dl_onnx *m;
  struct dl_onnx_count *c;
  assert_ok(count_bytes(&model, &dl_onnx_as_it_is, &m, &c, &d), &d);
  shape_text(&c->output[0], false, &got);
  assert_string_equal(dl_text_str(&got), shape);
  dl_text_free(&got);
  dl_text_free(&model);
  dl_onnx_count_free(c);
  dl_onnx_free(m);
}

/* A shape that no rule gives is the one that the model declares. */
static void test_declared_shapes(void **state) {
  struct dl_text graph = graph_of(
      (struct small_node[4]){{"NonZero", "x", "a"}, {"Relu", "a", "y"}});
  struct dl_text value = value_info("a", 7, "2x5");
  (void)state;
  put_message(&graph, 13, &value);
  assert_output(&graph, "2x5");
  graph = graph_of(
      (struct small_node[4]){{"NonZero", "x", "a"}, {"Relu", "a", "y"}});
  for (int i = 0; i < 2; i++) {
    value = value_info("a", 7, "2x5");
    put_message(&graph, 13, &value);
  }
  struct dl_text model = model_of(&graph);
  assert_refused(&model, MSG_shape_is_declared_twice("a"));
}

/* The elements of a tensor are in one of several fields. */
static void test_tensor_fields(void **state) {
  static const struct {
    unsigned type, field;
    bool packed;
  } ways[] = {{7, 7, false}, {7, 7, true}, {6, 5, false}};
  (void)state;
  for (size_t i = 0; i < COUNT(ways); i++) {
    struct dl_text graph =
        graph_of((struct small_node[4]){{"Reshape", "x s", "y"}});
    struct dl_text s = {0}, values = {0};
    put_number(&s, 1, 2);
    put_number(&s, 2, ways[i].type);
    put_string(&s, 8, "s");
    put_varint(&values, 2);
    put_varint(&values, 4);
    if (ways[i].packed) {
      put_message(&s, ways[i].field, &values);
    } else {
      put_number(&s, ways[i].field, 2);
      put_number(&s, ways[i].field, 4);
      dl_text_free(&values);
    }
    put_message(&graph, 5, &s);
    assert_output(&graph, "2x4");
  }
}

/* A sparse tensor has its own shape, not that of its values. */
static void test_sparse(void **state) {
  struct dl_text graph =
      graph_of((struct small_node[4]){{"MatMul", "x w", "y"}});
  struct dl_text sparse = {0}, w = tensor_proto("w", 1, "3", NULL, 0);
  (void)state;
  put_message(&sparse, 1, &w);
  put_number(&sparse, 3, 8);
  put_number(&sparse, 3, 5);
  put_message(&graph, 15, &sparse);
  assert_output(&graph, "1x5");
}

/* Functions of the model's own, by name. */
static void test_functions(void **state) {
  struct dl_text graph = graph_of((struct small_node[4]){{"Twice", "x", "y"}});
  struct dl_text f = {0}, model;
  (void)state;
  put_string(&f, 1, "Twice");
  put_string(&f, 4, "a");
  put_string(&f, 5, "b");
  struct dl_text node = node_of(&(struct small_node){"Twice", "a", "b"});
  put_message(&f, 7, &node);
  model = model_of(&graph);
  put_bytes(&model, 25, f.s, f.len);
  assert_refused(&model, "within each other more than 16 deep");
  graph = graph_of((struct small_node[4]){{"Twice", "x", "y"}});
  model = model_of(&graph);
  put_bytes(&model, 25, f.s, f.len);
  put_message(&model, 25, &f);
  assert_refused(&model, MSG_function_is_there_twice("Twice"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_standard_input),
      cmocka_unit_test(test_skipped_fields),
      cmocka_unit_test(test_graphs),
      cmocka_unit_test(test_tensors),
      cmocka_unit_test(test_declared_shapes),
      cmocka_unit_test(test_tensor_fields),
      cmocka_unit_test(test_sparse),
      cmocka_unit_test(test_functions),
  };
  return cmocka_run_group_tests_name("onnx_faults", tests, make_temp_dir,
                                     remove_temp_dir);
}
