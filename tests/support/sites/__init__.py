"""What analysts publish and services do, honest or not."""
