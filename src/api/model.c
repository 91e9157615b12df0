/* The public model: what it says of itself. */
#include <yoke/model.h>

#include "model/model.h"

const char *yoke_model_name(const yoke_model *model) {
  return model->name;
}
const char *yoke_model_text(const yoke_model *model) {
  return model->text;
}
double yoke_model_t_start(const yoke_model *model) {
  return model->t_start;
}
double yoke_model_t_end(const yoke_model *model) {
  return model->t_end;
}
const char *yoke_model_output_file(const yoke_model *model) {
  return model->output.file;
}
const char *yoke_model_output_csv(const yoke_model *model) {
  return model->output.csv;
}
double yoke_model_output_every(const yoke_model *model) {
  return model->output.every;
}
const char *yoke_model_solver(const yoke_model *model) {
  return model->solver.kind;
}
int yoke_model_n_bodies(const yoke_model *model) {
  return model->n_bodies;
}
int yoke_model_n_connections(const yoke_model *model) {
  return model->n_connections;
}
int yoke_model_n_loads(const yoke_model *model) {
  return model->n_loads;
}
int yoke_model_n_events(const yoke_model *model) {
  return model->n_events;
}
int yoke_model_n_parts(const yoke_model *model) {
  return model->n_parts;
}
