"""The dialects: manylabel's own, Annif's, Hugging Face's, the Open Inference Protocol and MLflow's."""
